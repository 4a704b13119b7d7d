"""An n-gram language model with modified Kneser-Ney smoothing: the baseline that computes perplexities offline.

word_tokens        the tokens of a text
discounts          how much is taken off the counts of n-grams
language_model     the model: trained on lists of tokens, it gives a log-probability to every token
order_tuning       the order, chosen by the perplexity of development texts
perplexity_choice  the next step, chosen by perplexity
ngram_client       the model as a model under test

nltk.lm has such a model, `KneserNeyInterpolated`; it is not used, for reasons found in nltk 3.10.4:

- A word that is not in the training texts has the probability 0, so the perplexity of a text that holds one is
  infinite: the unigrams are not interpolated with a uniform distribution.
- From order 3 on, the probabilities of the first words of a text sum to more than 1 where the texts are padded by
  nltk's own `padded_everygram_pipeline`: it counts start marks as words that follow start marks. A text that is not
  padded can lead to a division by zero.
- There is one discount for all counts, 0.1 unless it is set; none is estimated.
- Each probability is a search through all n-grams (nltk issue 3317): `perf/ngram.py` measures how long that takes.

Where none of these matters, the tests compare the probabilities with those of nltk.
"""
