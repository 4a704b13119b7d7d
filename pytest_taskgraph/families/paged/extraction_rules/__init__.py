"""The rules that build a procedural graph: of a document's sentences, or of the elements that a model lists.

rule_extractor       the graph of a document: document_sentences, clause_reader, tree_builder in a row
document_sentences   a document divided into headings and sentences
clause_reader        what a sentence says: clause_cues, action_phrases and constraint_clauses read its parts
mentions             what sentences can say, as data
tree_builder         the rules by which mentions become a tree: known_actions and later_statements look around
procedure_tree       the tree of a procedure, and its graph
document_elements    the list of elements that a model writes, read and written; extracted_element is a line of it
element_rules        the rules by which a list of elements becomes mentions
listed_elements      the elements of a document, found by the rules
clashing_conditions  which conditions exclude each other
condition_words      the opposite of a condition
verb_lexicon         common verbs and their forms
word_sets            sets of words
"""
