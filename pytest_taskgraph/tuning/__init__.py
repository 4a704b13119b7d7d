"""Tune local models with transformers' Trainer and peft, for what families state in `benchmarks/tuning_task.py`.

learned_tokens  the tokens of samples, one by one or in segments
validation      the dev samples, measured by the code that answers in a run
tuned_model     the model whose weights change: all of them, LoRA's, or those of a soft prompt
training        the updates, checkpoints and the best result of one candidate
tuning_run      all candidates, and the folder that is written
"""
