"""A training program that is a package: python -m package."""
