"""`evaluate`: every metric with its interval, null, floor and raw score."""

from ._evaluate import evaluate
from ._score import Evaluation, Score
