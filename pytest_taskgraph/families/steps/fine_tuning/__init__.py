"""Fine-tuning of a causal language model on the classification of STEPS, as Wang et al. (2023) do in section 3.4.

fine_tuning_parameters  what is stated before: updates, batch, segment, learning rate, …
training_samples        the texts that are learned, balanced and in the order of a seed
training_segments       the tokens of these texts, cut into segments
answer_scores           the validation: sensitivity, specificity and G-mean by comparing P(Yes) with P(No)
training_loop           the updates
finetune_command        `python -m pytest_taskgraph steps finetune`
"""
