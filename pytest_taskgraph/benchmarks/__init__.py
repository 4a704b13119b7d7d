"""The frame of benchmark families: what a family is, its settings, prompts, data sets, episodes and instances."""
