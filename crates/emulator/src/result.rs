//! Readings as Python takes them: names and shapes of the simulator's.
