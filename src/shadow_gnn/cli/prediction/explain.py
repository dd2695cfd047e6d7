"""Explain: `shadow explain`, the nodes, edges and columns that carried predictions, and their summary over a split.

Not for: the work itself (studies/explain); heavy libraries load when the command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadow_gnn.cli.shared.options import JsonOption, OtherScopesOption, RunArgument, RunGraphOption
from shadow_gnn.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.inference.predictor import Predictor
    from shadow_gnn.studies.explain.contributions import Method
    from shadow_gnn.studies.explain.explanation import Explanation
    from shadow_gnn.studies.explain.summary import Summary

_METHODS = "midpoint, gradient, integrated, occlusion or gnnexplainer"


def explain_command(
    run: RunArgument,
    node: Annotated[
        list[str] | None,
        typer.Option(help="Name or id of a node; can be repeated. Link prediction: two of them are a pair."),
    ] = None,
    explained_class: Annotated[
        str | None,
        typer.Option("--class", help="Class or label to explain, by name or number.", show_default="the predicted one"),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help=f"Way of computing contributions: {_METHODS}.", show_default="midpoint")
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Most rows of each table of --node.", show_default="10")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Contributions and accuracy over a split instead of single nodes.")
    ] = False,
    split: Annotated[str | None, typer.Option(help="Split of --summary.", show_default="test")] = None,
    num_targets: Annotated[
        int | None, typer.Option(min=1, help="Targets that --summary samples from the split.", show_default="1000")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed of the sample.", show_default="0")] = None,
    graph: RunGraphOption = None,
    extractor: OtherScopesOption = None,
    png: Annotated[Path | None, typer.Option(help="Also draw into this file, .png.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Also draw into this file, .svg.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page that needs no network, .html.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which nodes, edges and feature columns carried a prediction.

    Contributions have a sign: above 0 they speak for the explained class, below 0 against it. Their unit is the
    log-odds of the class, label or link, or the unit of a predicted value. gradient is the first-order effect of each
    part; integrated adds gradients up along the way from no neighbors to all; midpoint takes the one half way, in about
    three times the time of a prediction; occlusion predicts again without each part: exact and slow; gnnexplainer
    optimizes masks from 0 to 1 (PyG).

    --summary shows where the contributions of many targets come from (hop, class of the neighbor, weight of the edge,
    column), and the accuracy by degree, by size of the scope and by its homophily.

    \b
    Examples:
      shadow explain runs/recipe-1 --node gimp
      shadow explain runs/recipe-1 --node 3 --node 17 --class games --html explained.html
      shadow explain runs/recipe-1 --node gimp --method occlusion --png gimp.png --json
      shadow explain runs/links-1 --node gimp --node inkscape
      shadow explain runs/recipe-1 --split test --summary
    """
    from shadow_gnn.cli.shared.trained import open_run_predictor
    from shadow_gnn.studies.explain.explain import with_scopes
    from shadow_gnn.studies.explain.explanation import SHOWN

    files = _checked_files(summary, png, svg, html)
    if bool(node) == summary:
        raise ValueError("explain: either --node or --summary must be given, got " + ("both" if summary else "neither"))
    _check_unused(
        "--node" if summary else "--summary",
        {"--top": top} if summary else {"--split": split, "--num-targets": num_targets, "--seed": seed},
    )
    warnings: list[str] = []
    chosen = _method(method)
    predictor = with_scopes(open_run_predictor(run, graph, extractor, command="explain", warnings=warnings))
    if summary:
        found = _summary(predictor, split or "test", num_targets or 1000, seed or 0, chosen, explained_class)
        _show_summary(found, files, warnings, as_json)
    else:
        _show_nodes(_explained(predictor, node or [], chosen, explained_class), files, warnings, top or SHOWN, as_json)


def _checked_files(summary: bool, png: Path | None, svg: Path | None, html: Path | None) -> list[Path]:
    """Return the files to write; the ending of a name must be that of its option."""
    files = []
    for name, path in (("png", png), ("svg", svg), ("html", html)):
        if path is not None:
            if path.suffix != f".{name}":
                raise ValueError(f"explain: --{name} must end in .{name}, got {path}")
            if summary and name == "html":
                raise ValueError("explain: --html must be used without --summary, which has --png and --svg")
            files.append(path)
    return files


def _check_unused(owner: str, options: dict[str, object]) -> None:
    """Raise if an option is given that only another way of the command reads."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"explain: {name} must be used with {owner}, got {value}")


def _method(text: str | None) -> Method | None:
    from typing import cast, get_args

    from shadow_gnn.studies.explain.contributions import Method

    if text is not None and text not in get_args(Method):
        raise ValueError(f"explain: --method must be {_METHODS}, got {text!r}")
    return cast("Method | None", text)


def _explained(
    predictor: Predictor, nodes: Sequence[str], method: Method | None, explained_class: str | None
) -> list[Explanation]:
    from shadow_gnn.studies.explain.explain import each_explanation

    targets = predictor.check(_targets(predictor, nodes))
    return list(each_explanation(predictor, targets, method=method, explained_class=explained_class))


def _targets(predictor: Predictor, nodes: Sequence[str]) -> NDArray[np.int64]:
    """Return the nodes [B], or two at a time as pairs [B, 2]."""
    import numpy as np

    from shadow_gnn.cli.shared.pairs import find_nodes

    found = np.array(find_nodes(predictor.graph, nodes, "explain"), dtype=np.int64)
    if not predictor.is_links:
        return found
    if len(found) % 2:
        raise ValueError(
            f"explain: --node must be given twice for each pair of a link prediction, got {len(found)} times"
        )
    return found.reshape(-1, 2)


def _show_nodes(found: list[Explanation], files: list[Path], warnings: list[str], top: int, as_json: bool) -> None:
    from shadow_gnn.studies.explain.files import save_explanations

    for path in files:
        save_explanations(found, path)
    if as_json:
        print_json({"explanations": [one.to_dict(top) for one in found], "warnings": warnings})
        return
    for one in found:
        _print_explanation(one, top)


def _print_explanation(found: Explanation, top: int) -> None:
    typer.echo(f"{found.target_text}: {found.answer_text}, {_certainty(found)}, by {found.method}")
    tables = {"nodes": found.top_nodes(top), "edges": found.top_edges(top), "columns": found.top_columns(top)}
    for title, rows in tables.items():
        typer.echo("")
        if not rows:
            typer.echo(f"{title}: none contributed")
            continue
        heads = [name for name in rows[0] if not name.endswith("_id") or found.prediction.node_names is not None]
        cells = [[_cell(name, row[name]) for name in heads] for row in rows]
        print_table(heads, cells, text_columns=("to", "class"), title=title)
    typer.echo("")


def _certainty(found: Explanation) -> str:
    """Say how certain the prediction is, and whether it is right."""
    kind, probability = found.prediction.kind, found.prediction.probability
    if kind == "values" or probability is None:
        return f"known value {found.label}" if found.label is not None else "no known value"
    share = float(probability[0] if kind == "links" else probability[0][found.chosen or 0])
    if kind != "classes" or found.label is None:
        return f"probability {share:.3f}"
    return f"probability {share:.3f}, known class {found.class_text(found.label)}"


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:+.4f}" if name == "contribution" else f"{value:.4g}"
    return str(value)


def _summary(
    predictor: Predictor, split: str, num_targets: int, seed: int, method: Method | None, explained_class: str | None
) -> Summary:
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.explain.summary import summarize_split

    with progress_bar() as progress:
        return summarize_split(
            predictor,
            split,
            num_targets=num_targets,
            seed=seed,
            method=method,
            explained_class=explained_class,
            progress=progress,
        )


def _show_summary(found: Summary, files: list[Path], warnings: list[str], as_json: bool) -> None:
    from shadow_gnn.studies.explain.files import save_figure

    for path in files:
        save_figure(found.plot(), path)
    if as_json:
        print_json({**found.to_dict(), "warnings": warnings})
        return
    typer.echo(f"{found.num_targets:,} targets of {found.split}, {found.metric} {found.value:.4f}, by {found.method}")
    for title, groups in found.contributions.items():
        cells = [(g.name, f"{g.count:,.1f}", f"{g.share:.1%}", f"{g.mean:+.4f}") for g in groups]
        _print_groups(f"contribution by {title}", (title, "parts per target", "share", "signed"), cells)
    for title, buckets in found.accuracy.items():
        lines = [(b.name, f"{b.count:,}", f"{b.value:.4f}") for b in buckets]
        _print_groups(f"{found.metric} by {title}", (title, "targets", found.metric), lines)


def _print_groups(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        typer.echo("")
        print_table(heads, rows, title=title)
