"""Sparse autoencoders: which features come back, and which are right where the dictionary is known."""
