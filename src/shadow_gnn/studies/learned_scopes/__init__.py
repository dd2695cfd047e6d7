"""Learn: scopes that a trained model asks for, in the paper's two phases.

Not for: the explanations themselves (explain/), nor for training (run/).
"""
