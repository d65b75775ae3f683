"""Two rankings become one: fusion, relevance, and hits with path, lines and snippet (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assistant.index.chunker import Chunk, ChunkKind
from assistant.index.line_evidence import BestLine, Candidate
from assistant.index.question import SearchQuestion
from assistant.index.vectors.calibration import DEFAULT_SCORE, Calibration, Direction, MatchSignals, direction_of
from assistant.index.vectors.line_signs import LineCosines
from assistant.text.line_ends import split_lines

CANDIDATES = 200
"""Chunks either ranking hands over."""
VECTOR_WEIGHT = 0.4
TRUSTED_SHARE = 0.4
SNIPPET_CHARS = 300
COMPANY = 0.5
"""Share of the best relevance that is added to every chunk's own."""
MOST_COMPANY = 0.2


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A place that answers a question."""

    path: str
    """From the home, with slashes."""
    first_line: int
    last_line: int
    """1-based and inclusive, of the chunk `text`."""
    heading: str
    snippet: str
    """The lines that answer best, at most 300 characters."""
    text: str
    relevance: float
    """0 to 1, with the same meaning for every embedder and without one."""
    kind: ChunkKind
    day: str
    session_id: str = ""
    message_id: str = ""
    """Of the line the snippet starts with, in a conversation."""
    message_ids: tuple[str, ...] = ()
    """The message of each line of `text`, in a conversation."""
    line: int = 0
    """Where in the file what answers best begins."""
    score: float = 0.0
    """0 to 1: what both rankings and its best line give it together."""
    closeness: tuple[float, ...] = ()
    """Cosine of each line of `text` to the question, centred; empty where its lines have no vectors."""


@dataclass(frozen=True, slots=True)
class RankingInputs:
    """What the relevance of chunks to a question is read from."""

    question: SearchQuestion
    shares: Mapping[int, float]
    """Of the question's terms, by chunk."""
    cosines: Mapping[int, float]
    """Of the vectors from their means, by chunk; empty where words answer alone."""
    calibration: Calibration | None
    """None where words answer alone."""
    best_lines: Mapping[int, BestLine] = field(default_factory=dict[int, BestLine])
    """By chunk, for those whose lines were looked at."""
    line_cosines: Mapping[int, LineCosines] = field(default_factory=dict[int, LineCosines])
    """By chunk, for those whose lines have vectors."""


def fuse(
    word_scores: Mapping[int, float],
    cosines: Mapping[int, float],
    trust: float = 1.0,
    count: int = 2 * CANDIDATES,
) -> list[Candidate]:
    """The `count` best: 0.4 x cosine between the smallest and the largest + 0.6 x `trust` x words / the best.

    Scores are added and not ranks: words that fit by a large margin stay ahead. Where one side is empty, the other
    alone decides.
    """
    words = _share_of_best(word_scores)
    vectors = _between_extremes(cosines)
    word_weight, vector_weight = (1.0 - VECTOR_WEIGHT) * trust, VECTOR_WEIGHT
    if not words or not vectors:
        word_weight = vector_weight = 1.0
    scores = {chunk_id: word_weight * share for chunk_id, share in words.items()}
    for chunk_id, closeness in vectors.items():
        scores[chunk_id] = scores.get(chunk_id, 0.0) + vector_weight * closeness
    # Both sorts keep the order of equals: of two equal scores the smaller id comes first.
    ordered = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return [Candidate(chunk_id, scores[chunk_id]) for chunk_id in ordered[:count]]


def word_trust(shares: Iterable[float]) -> float:
    """How far the best word score is to be trusted, 0 to 1: the best chunk may have next to nothing of the question.

    That is so across two languages, where a number in common would outweigh the meaning.
    """
    return min(max(shares, default=0.0) / TRUSTED_SHARE, 1.0)


def select_hits(
    candidates: Sequence[Candidate],
    chunks: Mapping[int, Chunk],
    inputs: RankingInputs,
    max_results: int,
    min_score: float,
) -> list[SearchHit]:
    """The hits at or above `min_score`, in the order of the candidates, each place once; below 0 it keeps all."""
    relevances = rate_candidates(candidates, chunks, inputs)
    rated = ((candidate, relevances.get(candidate.chunk_id, 0.0)) for candidate in candidates)
    found = (
        _Rated(
            chunks[candidate.chunk_id],
            relevance,
            candidate.score,
            _closeness(candidate.chunk_id, chunks[candidate.chunk_id], inputs),
        )
        for candidate, relevance in rated
        if relevance >= min_score and (relevance > 0.0 or min_score < 0.0)
    )
    return _hits_of(found, inputs.question, max_results)


def hit_at(hit: SearchHit, line: int, text: str, relevance: float) -> SearchHit:
    """The same place, found by what one of its lines says; `line` is 0-based, within the text of the hit."""
    return replace(
        hit,
        relevance=round(min(relevance, 1.0), 3),
        snippet=text[:SNIPPET_CHARS],
        message_id=_message_at(hit.message_ids, line),
        line=hit.first_line if hit.session_id else hit.first_line + line,
    )


def best_places(
    candidates: Sequence[Candidate], chunks: Mapping[int, Chunk], question: SearchQuestion, count: int
) -> list[SearchHit]:
    """The first places, each once, whatever is known of how well they answer; none in another script."""
    known = (chunks[candidate.chunk_id] for candidate in candidates if candidate.chunk_id in chunks)
    within = (_Rated(chunk) for chunk in known if direction_of(question.text, chunk.text) == "within")
    return _hits_of(within, question, count)


def rate_candidates(
    candidates: Sequence[Candidate], chunks: Mapping[int, Chunk], inputs: RankingInputs
) -> dict[int, float]:
    """How well each chunk answers, 0 to 1; without an embedder the share of the question's terms.

    Beside a sure answer a less sure one counts for more: questions with several pieces of evidence find each of them
    only half as well.
    """
    shares, calibration = inputs.shares, inputs.calibration
    if calibration is None:
        return {candidate.chunk_id: shares.get(candidate.chunk_id, 0.0) for candidate in candidates}
    own: dict[int, float] = {}
    for candidate in candidates:
        if (chunk := chunks.get(candidate.chunk_id)) is not None:
            cosine = inputs.cosines.get(candidate.chunk_id)
            # Scripts count where a vector tells of meaning; to look at those of a text costs more than all the rest.
            direction = "within" if cosine is None else direction_of(inputs.question.text, chunk.text)
            own[candidate.chunk_id] = calibration.relevance(signals_of(candidate.chunk_id, inputs, direction))
    best = min(max(own.values(), default=0.0), 1.0)
    company = min(COMPANY * best, MOST_COMPANY) if best >= DEFAULT_SCORE else 0.0
    return {chunk_id: min(max(value + company, 0.0), 1.0) for chunk_id, value in own.items()}


def signals_of(chunk_id: int, inputs: RankingInputs, direction: Direction) -> MatchSignals:
    """What is known of how well a chunk answers."""
    share, cosine = inputs.shares.get(chunk_id, 0.0), inputs.cosines.get(chunk_id)
    if (line := inputs.best_lines.get(chunk_id)) is None:
        return MatchSignals(share, cosine, direction)
    return MatchSignals(share, cosine, direction, line.share, line.centred)


def make_snippet(text: str, terms: Sequence[str], max_chars: int = SNIPPET_CHARS) -> Snippet:
    """The run of whole lines within `max_chars` that holds most of the terms; a longer line is cut around them."""
    lines = split_lines(text)
    plain = [line.lower() for line in lines]
    found = [sum(term in line for term in terms) for line in plain]
    best = max(range(len(lines)), key=lambda index: (found[index], bool(lines[index].strip()), -index))
    first = last = best
    size = len(lines[best])
    if size > max_chars:
        return Snippet(_cut_around(lines[best], plain[best], terms, max_chars), best)
    while last + 1 < len(lines) and size + len(lines[last + 1]) < max_chars:
        last += 1
        size += len(lines[last]) + 1
    while first > 0 and size + len(lines[first - 1]) < max_chars:
        first -= 1
        size += len(lines[first]) + 1
    return Snippet("\n".join(lines[first : last + 1]).strip(), best)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A few lines of a chunk, and which line of it answers best, from 0."""

    text: str
    best_line: int


def _share_of_best(scores: Mapping[int, float]) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0.0 else dict.fromkeys(scores, 0.0)


def _between_extremes(cosines: Mapping[int, float]) -> dict[int, float]:
    if not cosines:
        return {}
    low, high = min(cosines.values()), max(cosines.values())
    spread = high - low
    return {key: (cosine - low) / spread if spread > 0.0 else 1.0 for key, cosine in cosines.items()}


def _is_same_place(chunk: Chunk, other: Chunk) -> bool:
    """True for the same words elsewhere, and for two chunks that share more than half of their lines."""
    if chunk.text == other.text:
        return True
    if chunk.path != other.path or chunk.session_id != other.session_id or chunk.kind != other.kind:
        return False
    shared = min(chunk.last_line, other.last_line) - max(chunk.first_line, other.first_line) + 1
    shorter = min(_line_count(chunk), _line_count(other))
    # The parts of one long line are not the same place.
    return shorter > 1 and shared > shorter / 2


def _line_count(chunk: Chunk) -> int:
    return chunk.last_line - chunk.first_line + 1


@dataclass(frozen=True, slots=True)
class _Rated:
    chunk: Chunk
    relevance: float = 0.0
    score: float = 0.0
    closeness: tuple[float, ...] = ()


def _closeness(chunk_id: int, chunk: Chunk, inputs: RankingInputs) -> tuple[float, ...]:
    """Of each line; a single line is as near as its chunk."""
    if (lines := inputs.line_cosines.get(chunk_id)) is not None:
        return lines.centred
    is_one_line = chunk_id in inputs.cosines and len(split_lines(chunk.text)) == 1
    return (inputs.cosines[chunk_id],) if is_one_line else ()


def _hits_of(rated: Iterable[_Rated], question: SearchQuestion, count: int) -> list[SearchHit]:
    """The first hits, in order, each place once."""
    taken: list[Chunk] = []
    hits: list[SearchHit] = []
    for one in rated:
        if len(hits) == count:
            break
        if not any(_is_same_place(one.chunk, other) for other in taken):
            taken.append(one.chunk)
            hits.append(_hit(one, question.terms))
    return hits


def _hit(rated: _Rated, terms: Sequence[str]) -> SearchHit:
    chunk = rated.chunk
    snippet = make_snippet(chunk.text, terms)
    return SearchHit(
        path=chunk.path,
        first_line=chunk.first_line,
        last_line=chunk.last_line,
        heading=chunk.heading,
        snippet=snippet.text,
        text=chunk.text,
        relevance=round(rated.relevance, 3),
        kind=chunk.kind,
        day=chunk.day,
        session_id=chunk.session_id,
        message_id=_message_at(chunk.message_ids, snippet.best_line),
        message_ids=chunk.message_ids,
        line=chunk.first_line if chunk.session_id else chunk.first_line + snippet.best_line,
        score=round(rated.score, 3),
        closeness=rated.closeness,
    )


def _message_at(message_ids: Sequence[str], line: int) -> str:
    return message_ids[min(line, len(message_ids) - 1)] if message_ids else ""


def _cut_around(line: str, plain: str, terms: Iterable[str], max_chars: int) -> str:
    places = [place for term in terms if (place := plain.find(term)) >= 0]
    start = max(min(places, default=0) - max_chars // 4, 0)
    end = min(start + max_chars - 2, len(line))
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return f"{before}{line[start:end]}{after}"
