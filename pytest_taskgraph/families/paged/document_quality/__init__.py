"""The quality of procedural documents (Du et al. 2024, section 3.3 and appendix B), as models and people see it.

coverage                ESA: the names of the graph that a document covers
entailment              FINE: omissions and hallucinations, by an entailment model
paraphrase              paraphrases by a model, and the names that they lose
document_annotations    ratings by people on five criteria, out of a CSV file
intraclass_correlation  how far the raters agree
"""
