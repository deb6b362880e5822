"""Beyond the papers: tables as people have them, and what can be said of them before a fit."""
