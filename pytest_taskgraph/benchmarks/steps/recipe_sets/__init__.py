"""The recipes that STEPS builds questions from, and its published questions.

embedded_recipes  our own recipes and procedures, which come with the package
food_com          Food.com's recipes, as the paper used them
published_files   the published test files, which hold questions and no recipes
"""

from __future__ import annotations

from .recipe_set import RecipeSet, RecipeSource, RecipeSplit

__all__ = ["RecipeSet", "RecipeSource", "RecipeSplit"]
