"""Settings read from a ``Pulumi.<env>.yaml`` on disk, problems with their line."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from components.catalog import nearest
from stacks.config.clear_secrets import beside_settings
from stacks.config.problems import Location, SettingProblem, SettingsError, shown
from stacks.config.resolve import Settings, load
from stacks.config.syntax import not_yaml, refuse_odd, text_of
from stacks.config.versions import Versions
from stacks.config.view import View

PROJECT = "gpu-platform"
SETTINGS = f"{PROJECT}:settings"
# What Pulumi itself writes beside `config`; see its reference of stack settings files.
PULUMI_KEYS = ("config", "encryptionsalt", "encryptedkey", "secretsprovider", "environment")


def settings_file(root: Path, env: str) -> Path:
    """Where the settings of an environment lie."""
    return root / f"Pulumi.{env}.yaml"


def load_file(path: Path, env: str, versions: Versions) -> Settings:
    """Check and resolve the settings of a file.

    Args:
        path: The file.
        env: Name of the environment, which is the stack's.
        versions: The pins.

    Raises:
        SettingsError: Everything that is wrong, at once, with lines.
    """
    document = _parse(path, env)
    around = tuple(_around(document))
    settings = _settings(document)
    try:
        loaded = load(env, _plain(settings), versions)
    except SettingsError as error:
        inner = tuple(problem.at_line(_line(settings, problem.location)) for problem in error.problems)
        top = document.get("config")
        here = _line(document, ("config",)) if isinstance(top, CommentedMap) else None
        told = tuple(one if one.line or one.location else one.at_line(here) for one in inner)
        every = sorted((*around, *told), key=lambda problem: problem.line or 0)
        raise SettingsError(path.name, every) from None
    if around:
        raise SettingsError(path.name, around)
    return loaded


def cluster_source(path: Path) -> str | None:
    """Which cluster the settings name, ``lab`` or ``kubeconfig``, however wrong the rest of the file is.

    Returns:
        The source, or None where the file does not say.
    """
    try:
        settings = _plain(_settings(_parse(path, path.name)))
    except SettingsError:
        return None
    return View(settings).at("cluster", "source").text


def _parse(path: Path, env: str) -> CommentedMap:
    if not path.exists() or path.is_dir():
        known = sorted(one.name.split(".")[1] for one in path.parent.glob("Pulumi.*.yaml"))
        raise SettingsError(path.name, [_no_file(path, env, known)])
    text = text_of(path)
    try:
        refuse_odd(path.name, text)
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        # Only the first line of the parser's words: it may go on to quote the file.
        what = (error.problem or "a syntax error").splitlines()[0]
        raise SettingsError(path.name, [not_yaml(what, line)]) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SettingsError(path.name, [not_yaml(f"the character U+{error.character:04X}", line)]) from None
    except YAMLError:
        raise SettingsError(path.name, [not_yaml("a syntax error", None)]) from None
    if not isinstance(document, CommentedMap):
        raise SettingsError(path.name, [not_yaml(shown(document, ()), None)])
    return document


def _no_file(path: Path, env: str, known: list[str]) -> SettingProblem:
    suggestion = nearest(env, tuple(known))
    return SettingProblem(
        location=("(file)",),
        value=f"no file {path.name}",
        accepted=f"an environment that has one: {', '.join(known) or 'none yet'}",
        fix=f"did you mean {suggestion!r}?" if suggestion else f"create {path.name} after Pulumi.dev.yaml",
    )


def _around(document: CommentedMap) -> Iterator[SettingProblem]:
    """What is wrong outside the settings themselves."""
    for key in document:
        if key not in PULUMI_KEYS:
            yield _stray(document, (key,), PULUMI_KEYS)
    config = document.get("config")
    for key in config if isinstance(config, CommentedMap) else ():
        if str(key) != SETTINGS and (":" not in str(key) or str(key).startswith(f"{PROJECT}:")):
            # A secret of one's own stands beside the settings in encrypted form.
            value = config[key]
            if not (isinstance(value, CommentedMap) and list(value) == ["secure"]):
                yield _stray(document, ("config", key), (SETTINGS,))
    plain = _plain(config)
    for problem in beside_settings(plain, SETTINGS) if isinstance(plain, dict) else ():
        yield problem.at_line(_line(document, problem.location))


def _stray(document: CommentedMap, location: Location, known: tuple[str, ...]) -> SettingProblem:
    suggestion = nearest(location[-1], known)
    return SettingProblem(
        location=location,
        value=f"the unknown key {str(location[-1])!r}",
        accepted=", ".join(known),
        fix=f"did you mean {suggestion!r}? Else remove it" if suggestion else "remove it",
        line=_line(document, location),
    )


def _settings(document: CommentedMap) -> object:
    config = document.get("config")
    return config.get(SETTINGS) if isinstance(config, CommentedMap) else None


def _line(node: object, location: Location) -> int | None:
    """Line of the deepest key of the location that the file has."""
    line: int | None = None
    for key in location:
        if isinstance(node, CommentedMap) and key in node:
            line = int(node.lc.key(key)[0]) + 1
        elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
            line = int(node.lc.item(key)[0]) + 1
        else:
            break
        node = node[key]
    return line


def _plain(value: object) -> object:
    """The parser's own types as plain ones, so that they are judged as Pulumi would hand them over."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return plain(value)
    return value
