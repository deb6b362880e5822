"""Harder worlds than those the defaults were chosen on, with yesterday's defaults beside today's."""
