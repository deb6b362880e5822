"""The application: the commands' names, and one door through which every error leaves."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .._spelling import meant
from .._version import __version__
from .._waiting import was_stopped
from . import (
    _activations,
    _certify,
    _choose,
    _compare,
    _convert,
    _deconfound,
    _demo,
    _explore,
    _fit,
    _judge,
    _reproduce,
    _show,
    _simulate,
    _transform,
    _trust,
)
from ._again import again, remember
from ._alone import holding
from ._output import one_line, say
from ._several import SeveralWords
from ._stops import INTERRUPTED, stoppable

_UsageError: Any = typer.BadParameter.__bases__[0]  # typer's own: an unknown option, a missing argument

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", epilog=_demo.EXAMPLE)(_demo.demo)
app.command("simulate", epilog=_simulate.EXAMPLE)(_simulate.simulate)
app.command("choose", epilog=_choose.EXAMPLE)(_choose.choose)
app.command("fit", epilog=_fit.FIT_EXAMPLE)(_fit.fit)
app.command("trust", epilog=_trust.EXAMPLE)(_trust.trust)
app.command("transform", epilog=_transform.EXAMPLE)(_transform.transform)
app.command("deconfound", cls=SeveralWords, epilog=_deconfound.EXAMPLE)(_deconfound.deconfound)
app.command("evaluate", epilog=_judge.EVALUATE_EXAMPLE)(_judge.evaluate)
app.command("certify", epilog=_certify.EXAMPLE)(_certify.certify)
app.command("compare", epilog=_compare.COMPARE_EXAMPLE)(_compare.compare)
app.command("activations", epilog=_activations.EXAMPLE)(_activations.activations)
app.command("convert", epilog=_convert.EXAMPLE)(_convert.convert)
app.command("reproduce", epilog=_reproduce.REPRODUCE_EXAMPLE)(_reproduce.reproduce)
app.command("show", epilog=_show.EXAMPLE)(_show.show)
app.command("explore", epilog=_explore.EXAMPLE)(_explore.explore)
app.command("report", epilog=_judge.REPORT_EXAMPLE)(_judge.report)


def _print_version(wanted: bool) -> bool:
    if wanted:
        print(__version__)
        raise typer.Exit
    return wanted


@app.callback(epilog="Example: [bold]unmix demo[/]")
def _unmix(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Recover the hidden variables behind observed data, and say which can be trusted and why."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    0: done. 1: the fit broke down. 2: bad input. 130, 143, 129: stopped by SIGINT (Ctrl-C), SIGTERM, SIGHUP.
    An error is one line on standard error.
    """
    with warnings.catch_warnings(), stoppable() as code_of:
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # we match names ourselves
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # and nobody writes to it
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        sys.exit(code_of(_run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        with holding():
            code = app(
                args=remember(sys.argv[1:] if arguments is None else arguments) or ["--help"],
                prog_name="unmix",
                standalone_mode=False,
            )
    except SystemExit as left:  # a command that was stopped has said so
        return left.code if isinstance(left.code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `unmix ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except _UsageError as error:
        return _fail(2, _usage(error) + " See `unmix --help`.")
    except (ValueError, TypeError, OSError) as error:
        return _fail(2, str(error) or type(error).__name__)
    except MemoryError as error:
        return _fail(
            2, f"the data must fit into memory, they do not ({error}). Choose fewer rows or columns."
        )
    except (FloatingPointError, ImportError) as error:
        return _fail(1, str(error))
    except RuntimeError as error:
        if not was_stopped(error):
            raise
        code = INTERRUPTED
    if code == INTERRUPTED:
        say(f"unmix: interrupted. No file was left unfinished. To start again: {again()}")
    return code if isinstance(code, int) else 0


def _usage(error: Any) -> str:
    """Say what is wrong with a command; of an option that is called otherwise elsewhere, its name here."""
    given, known = getattr(error, "option_name", None), getattr(error.ctx, "command", None)
    if given is None or known is None:
        return str(error.format_message())
    options = [option for each in known.params for option in each.opts if option.startswith("--")]
    name = meant(given.lstrip("-"), [option.removeprefix("--") for option in options])
    return f"No such option: {given}. Did you mean --{name}?" if name else str(error.format_message())


def _fail(code: int, message: str) -> int:
    say(f"unmix: error: {one_line(message)}")
    return code


def _show_warning(message: Any, *_: Any) -> None:
    say(f"unmix: warning: {one_line(str(message))}")
