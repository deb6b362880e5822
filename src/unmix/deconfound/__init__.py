from ._design import Design, design
from ._anchored import anchored
from ._methods import METHODS
from ._evaluate import evaluate
