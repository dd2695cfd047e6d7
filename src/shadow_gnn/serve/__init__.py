"""Serve: a trained model that answers over HTTP while its graph changes.

Not for: tables of many predictions (inference), nor for the command (cli/prediction/serve.py).
"""
