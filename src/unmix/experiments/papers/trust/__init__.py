"""Beyond the papers: how often a verdict of trust is right, on worlds whose latents are known."""
