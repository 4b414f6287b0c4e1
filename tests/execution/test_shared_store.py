"""Workers that share a store: what another job left there is nobody's result but its own."""

from dataclasses import replace

from dpsco_bench.claims.jobs import checked_job, part_jobs
from dpsco_bench.claims.settings import Settings
from dpsco_bench.execution import worker
from dpsco_bench.execution.job import Shard
from dpsco_bench.execution.measured import Measured, item, shard_key
from dpsco_bench.execution.store import Store

from .parts import claim_of


def job_of(seed):
    claim = claim_of("own.shared")
    return checked_job(part_jobs(claim, claim.parts[0], "smoke", Settings(seed=seed))[0])


def test_shards_of_two_jobs_have_keys_of_their_own():
    """Also where both are predicted to take as long, and are cut as often."""
    one, other = job_of(1), job_of(2)
    other = replace(other, seconds=one.seconds)
    keys = [shard_key(job, Shard(number, of)) for job in (one, other) for of in (2, 3) for number in range(of)]
    assert len(set(keys)) == len(keys)
    assert shard_key(one, Shard(0, 2)) != shard_key(replace(one, seconds=(9.0, 9.0)), Shard(0, 2))


def test_a_worker_does_not_take_what_another_job_left(tmp_path):
    """The first shares of a job with another seed lie there already, and as many are asked for."""
    one, other = job_of(1), job_of(2)
    other = replace(other, seconds=one.seconds)
    alone, shared = Measured(Store(tmp_path / "alone")), Measured(Store(tmp_path / "shared"))
    for job in (one, other):
        worker.make("calibrate", job, shared)
    worker.make("run", one, shared, number=0, of=2)
    for number in range(2):
        assert worker.make("run", other, shared, number=number, of=2)
    worker.make_all([other], alone, lambda line: None)
    table = [measured.store.read(*item("run", other)) for measured in (alone, shared)]
    assert table[0] == table[1] and not shared.store.has(*item("run", one))
