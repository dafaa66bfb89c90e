"""What can be said of a link in the time that there is."""
