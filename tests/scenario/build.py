"""The smallest scenario."""

SMALLEST = '[link]\nrate = "155 Mbit/s"\n[[traffic]]\nflows = 100\n'
