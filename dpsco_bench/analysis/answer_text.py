"""What answers a claim: a sentence for each noise; rows, reasons and counts stand in the table below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dpsco_bench.analysis.answer_rows import BY_SCHEDULE, NO, UNDECIDED, VACUOUS, WEIGHT, YES, AnswerRow, NoiseAnswer
from dpsco_bench.analysis.noise import LAW_NEITHER, Noise, number
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.privacy.ledger import STATUS_CLAUSES

TOLD = (YES, BY_SCHEDULE, VACUOUS, UNDECIDED, NO)
"""Answers in the order of a sentence."""
LONGEST = 30
"""Words of a sentence where it can be; see `BRIEFS`."""
BRIEFS = ("whole", "apart", "no place", "no share")
"""What a text with a longer sentence becomes, one after the other: what noise is stands in a sentence of its own; the
point at which it is worst is left out; so is what is vacuous in a yes, and what the target law is not."""
MOST_NAMED = 3
"""Of more parts than this the number is told, and not their names."""
MOST_PLACES = 5
"""Of more parameters after one word the number is told."""
ROWS = re.compile(r"(?<=\d) rows(?=\)| vacuous\))")
"""What `_share` counts, behind its numbers."""
BY_DESIGN = "Only our noise was checked; it is private by construction, which confirms nothing."
Answers = tuple[tuple[str, str], ...]
"""Answers of one topic, one of `TOLD` each, and where: ``(("yes", " in n"), ("no", " in d (1 of 2 rows)"))``."""
VERBS = {
    YES: ("holds", "hold"),
    BY_SCHEDULE: ("holds by the schedule", "hold by the schedule"),
    VACUOUS: ("is vacuous", "are vacuous"),
    UNDECIDED: ("is undecided", "are undecided"),
    NO: ("fails", "fail"),
}
"""Answer -> verb of one topic, and of several."""


@dataclass(frozen=True)
class Clause:
    """Rows, and the noise that they ran with in words.

    Attributes
    ----------
    noise : str, such as ``with the printed noise``
    status : str, such as ``is private (eps <= 1, claimed 2)``; empty where it needs no telling
    """

    rows: Sequence[AnswerRow]
    noise: str
    status: str = ""

    @property
    def whole(self) -> str:
        return f"{self.noise}, which {self.status}" if self.status else self.noise

    @property
    def aside(self) -> str:
        """The status in words of their own; empty without one."""
        return f"{self.noise.removeprefix('with ')} {self.status}" if self.status else ""


def words(text: str) -> int:
    """How many words a text has; signs alone are none."""
    return len(re.findall(r"\S*\w\S*", text))


def shown(rows: Iterable[Verdict]) -> str:
    """Of a claim that nothing is judged of, and why: as the words of its rows say."""
    why = {row.meaning.meaning.rpartition(": ")[2] for row in rows if row.meaning.outcome == "shown"}
    return sentence(": ".join(filter(None, ("shown, not judged", ", and ".join(sorted(why))))))


def with_others(said: str, reasons: Sequence[str]) -> str:
    """A sentence that also tells what most of the rows beside the statement are, where there are any."""
    most = max(sorted(set(reasons)), key=reasons.count, default="")
    return f"{said.removesuffix('.')}; {most.partition(':')[0]}." if most else said


def not_run(reasons: Iterable[str]) -> str:
    """Why, and in brackets the command that mends it, as in ``Not run: data absent (`dpsco data x`).``."""
    told = dict.fromkeys(re.sub(r": (`[^`]*`)$", r" (\1)", reason) for reason in reasons if reason)
    return sentence(": ".join(filter(None, ("not run", ", ".join(told)))))


def others_alone(reasons: Sequence[str]) -> str:
    """Of a claim of which only rows beside the statement ran, and what most of them are."""
    most = max(sorted(set(reasons)), key=reasons.count)
    return sentence(f"not run: what ran is beside the statement ({most.partition(':')[0]})")


def with_contrary(said: str, rows: int) -> str:
    """An answer with a sentence on rows beside the statement that go against it."""
    return f"{said} {'1 row' if rows == 1 else f'{rows} rows'} beside the statement say{'s' * (rows == 1)} otherwise."


def sentences(text: str) -> list[str]:
    """The sentences of an answer."""
    return re.split(r"(?<=[.]) (?=[A-Z0-9])", text)


def by_noise(printed: NoiseAnswer, ours: NoiseAnswer, others: Sequence[AnswerRow], scopes: Mapping[str, str]) -> str:
    """What each noise shows, and whether it is private; that ours is stands in what it is called.

    ``The rate holds in n with the printed noise, which is not private (eps >= 9, claimed 1).``

    Parameters
    ----------
    scopes : mapping of str to str
        Values that alone were run -> what speaks of no others, of `kinds_scoped`.
    """
    found, of_paper = "", printed_noise(printed.recalled, printed.corrected, printed.corrected_in_part)
    silent = [row for row in others if row.verdict.calibration == "none"]
    for brief in range(len(BRIEFS)):
        clauses = [
            Clause(printed.rows, f"with {of_paper}" if printed.run_with else "as printed", _which(printed, brief)),
            _of_ours(ours, brief),
            Clause(silent, "without noise"),
        ]
        told = _told_together([clause for clause in clauses if clause.rows], brief)
        found = _rows_told_once(" ".join(map(sentence, [*told, *_open_in(printed.rows), *_limits(scopes)])))
        if max(map(words, sentences(found)), default=0) <= LONGEST:
            break
    return found


def printed_noise(recalled: bool, corrected: str = "", in_part: bool = False) -> str:
    """What noise of the calibration ``paper`` is called; ``recalled`` and ``corrected`` as of `Verdict`."""
    if corrected:
        return f"the printed noise{', in part' if in_part else ''} corrected by {corrected}"
    return "the noise recalled of its source" if recalled else "the printed noise"


def on_privacy(
    judged: Sequence[AnswerRow], says: str, noise: Noise | None, whose: str, scopes: Mapping[str, str]
) -> str:
    """Of a claim on privacy alone, such as ``No: in 1 of 3 parts (a) the printed noise is not private``."""
    own = [row for row in judged if row.says == says]
    where = f"in {len(own)} of {len(judged)} parts{_names(own)} " if len(own) < len(judged) else ""
    said = f"{says}: {where}{whose} {_is(noise, says == YES)}"
    if noise and words(said) > LONGEST:
        said = f"{says}: {where}{whose} {_is(replace(noise, place=''), says == YES)}"
    return " ".join(map(sentence, [said, *_left_open(own, len(judged)), *_limits(scopes)]))


def _left_open(own: Sequence[AnswerRow], judged: int) -> list[str]:
    """Which constant of the noise the theorem leaves open; a word on its noise is one on the value that is taken."""
    found = [row.verdict.open_constant for row in own if row.verdict.open_constant]
    if not found:
        return []
    what = " and ".join(dict.fromkeys(found))
    if len(found) == judged:
        return [f"the theorem leaves {what} open; it is 1 here"]
    where = "there" if len(found) == len(own) else f"in {len(found)} of these"
    return [f"{where} {what}, which the theorem leaves open, is 1"]


def _open_in(rows: Sequence[AnswerRow]) -> list[str]:
    """Which constant of the paper's noise it leaves open, of rows that ran with that noise."""
    noisy = [row.verdict.open_constant for row in rows if row.verdict.noise]
    found = list(filter(None, noisy))
    what = " and ".join(dict.fromkeys(found))
    where = "here" if len(found) == len(noisy) else f"in {len(found)} of {len(noisy)} rows"
    return [f"the paper leaves {what} open; it is 1 {where}"] if found else []


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def counted(counts: Mapping[str, int]) -> str:
    """Of audits, such as ``Of 4 audits 1 refutes the claimed eps, 2 do not and 1 says nothing``."""
    told = [f"{counts[word]} {_AUDITS[word][counts[word] != 1]}" for word in _AUDITS if counts.get(word)]
    told += [f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts.items() if word not in _AUDITS]
    if counts.get("refuted") and counts.get("not refuted"):
        told[1] = told[1].removesuffix(f" refute {_CLAIMED}")
    total = sum(counts.values())
    return f"Of {total} audit{'s' * (total != 1)} {_listed(told)}."


_CLAIMED = "the claimed eps"
_AUDITS = {
    "refuted": (f"refutes {_CLAIMED}", f"refute {_CLAIMED}"),
    "not refuted": (f"does not refute {_CLAIMED}", f"do not refute {_CLAIMED}"),
    "says nothing": ("says nothing", "say nothing"),
}
"""Word of an audit -> what one and several of them do."""


def kinds_scoped(rows: Iterable[AnswerRow]) -> dict[str, str]:
    """Values that alone were run -> title of the kind that speaks of no others."""
    stated = [row.verdict for row in rows]
    return {row.scope: get_kind(row.kind).title for row in stated if row.scope and not row.skipped}


def _limits(scopes: Mapping[str, str]) -> list[str]:
    """What has not been measured of the statement."""
    return [f"the {of} is measured at {at}" for at, of in scopes.items()]


def _of_ours(ours: NoiseAnswer, brief: int) -> Clause:
    """Rows with our noise; its epsilon is the claim's, and needs no telling."""
    if not ours.run_with or ours.private:
        return Clause(ours.rows, "with private noise" if ours.run_with else "with accounted noise")
    if brief and ours.run_with.nominal:
        return Clause(ours.rows, "with noise accounted for nominal constants")
    return Clause(ours.rows, "with the accounted noise", _which(ours, brief))


def _which(regime: NoiseAnswer, brief: int) -> str:
    """Whether the noise that rows ran with is private, and that of rows on privacy where it is worse."""
    own, most = regime.run_with, regime.noise
    if not own:
        return ""
    if brief > 1:
        own = replace(own, place="")
    short = regime.calibration == "accounted" or (brief > 1 and own.nominal)
    told = f"is {own.status_told}" if short else _is(own, False)
    least, largest = map(number, regime.claims)
    if told.endswith(")") and least != largest:
        told = f"{told[:-1]}; the rows' worst cells claim {least} to {largest})"
    if brief > 2:
        return told.replace(LAW_NEITHER, STATUS_CLAUSES["unproven"])
    return f"{told} and elsewhere {_is(most, False)}" if most and own.status != most.status else told


def _is(noise: Noise | None, private: bool) -> str:
    """``is not private (eps >= 12,900, claimed 1)``."""
    if noise is None:
        return f"is {STATUS_CLAUSES['proven' if private else 'unproven']}"
    return f"is {(replace(noise, status='proven') if private else noise).told}"


def _told_together(clauses: Sequence[Clause], brief: int) -> list[str]:
    """A sentence a noise, those with the same answers in one; the first begins with what it answers."""
    same: dict[tuple[tuple[str, Answers], ...], list[Clause]] = {}
    for clause in clauses:
        same.setdefault(tuple(_answers(clause.rows, brief).items()), []).append(clause)
    told: list[str] = []
    for answers, own in same.items():
        phrases = [clause.noise if brief else clause.whole for clause in own]
        said, noise = _answered(dict(answers)), _noises(phrases)
        begun = f"{said}{',' * (', and the ' in said)} "
        if told:
            told.append(f"{noise}{',' * (',' in noise)} {said}")
        elif words(begun + noise) <= LONGEST or len(phrases) == 1:
            told.append(begun + noise)
        else:
            told += [begun + phrases[0], f"it is the same {_noises(phrases[1:])}"]
        told += [clause.aside for clause in own if brief and clause.status]
    return told


def _noises(phrases: Sequence[str]) -> str:
    """Noises in a list, with a comma before the last where one has a comma itself."""
    return _listed(phrases, "," * any("," in phrase for phrase in phrases))


def _answered(answers: Mapping[str, Answers]) -> str:
    """``the rate holds in d and is undecided in n, and the explicit bound and the stated band hold``."""
    alike: dict[Answers, list[str]] = {}
    for topic, said in answers.items():
        alike.setdefault(said, []).append(f"the {topic}")
    clauses = []
    for said, topics in alike.items():
        verbs = [f"{VERBS[one][len(topics) > 1]}{where}" for one, where in said]
        clauses.append(f"{_listed(topics)} {_listed(verbs)}")
    return _listed(clauses, ",")


def _rows_told_once(text: str) -> str:
    """Of what there are so many, as in ``(1 of 2 rows)``, is said at the first of them alone."""
    first = ROWS.search(text)
    return text if first is None else text[: first.end()] + ROWS.sub("", text[first.end() :])


def _answers(rows: Sequence[AnswerRow], brief: int) -> dict[str, Answers]:
    """Topic, such as ``rate`` -> its answers."""
    topics: dict[str, list[AnswerRow]] = {}
    for row in sorted(rows, key=lambda row: row.order):
        topics.setdefault(row.topic, []).append(row)
    return {topic: _of_topic(found, brief) for topic, found in topics.items()}


def _of_topic(rows: Sequence[AnswerRow], brief: int) -> Answers:
    places: dict[str, list[AnswerRow]] = {}
    for row in rows:
        places.setdefault(row.place, []).append(row)
    told: dict[str, list[tuple[str, str]]] = {}
    for place, own in places.items():
        worst = min((row.says for row in own), key=WEIGHT.index)
        told.setdefault(worst, []).append((place, "" if brief > 2 and worst == YES else _share(worst, own)))
    return tuple((said, _where(told[said])) for said in TOLD if said in told)


def _share(said: str, rows: Sequence[AnswerRow]) -> str:
    """How many rows an answer comes from; of a yes, how many are vacuous."""
    own = [row for row in rows if row.says == (VACUOUS if said == YES else said)]
    return f"({len(own)} of {len(rows)} rows{' vacuous' * (said == YES)})" if 0 < len(own) < len(rows) else ""


def _names(rows: Sequence[AnswerRow]) -> str:
    """Names of parts in brackets; nothing for many, or for rows without names."""
    parts = [row.verdict.part for row in sorted(rows, key=lambda row: row.order)]
    return f" ({', '.join(parts)})" if len(parts) <= MOST_NAMED and all(parts) else ""


def _where(places: Sequence[tuple[str, str]]) -> str:
    """`` in n and d``; of a kind without places `` (1 of 13 rows)``."""
    named = [" ".join(filter(None, pair)) for pair in places if pair[0]]
    if not named:
        return "".join(f" {share}" for _, share in places if share)
    return f" in {_listed(named) if len(named) <= MOST_PLACES else f'{len(named)} parameters'}"


def _listed(names: Sequence[str], comma: str = "") -> str:
    """``a, b and c``, or with a comma before the last."""
    return ", ".join(names[:-1]) + f"{comma} and " * (len(names) > 1) + names[-1]
