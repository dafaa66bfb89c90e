"""What is made from the models and records of the package: ``make generated`` writes it anew."""
