"""Beyond the papers: what each score is worth, beside codes that learned nothing."""
