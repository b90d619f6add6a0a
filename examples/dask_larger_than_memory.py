"""A gradient over more data than the memory of the workers: in blocks, under Dask, with the bits of one process.

Each of two workers may use 256 MiB, and would be ended by Dask at 95% of that; the data are 640 MB. They are generated
in blocks here, so that the example needs no disk; a file is `numpy.load(path, mmap_mode="r")` in the place of `read`.
"""

import sys
import time

import numpy as np
from distributed import Client, LocalCluster, progress  # pyright: ignore[reportMissingImports]

import symgrad as sg

ROWS, COLUMNS = 8_000_000, 9
LIMIT = 256 * 2**20
TRUE = np.linspace(-1, 1, COLUMNS)


def read(first: int, last: int) -> dict[str, np.ndarray]:
    """The rows from one number to another: as they would lie in a file, the same whoever reads them."""
    rng = np.random.default_rng([7, first])
    X = rng.random((last - first, COLUMNS))
    return {"X": X, "y": np.tanh(X @ TRUE) + 0.1 * (rng.random(last - first) - 0.5)}


def peak() -> int:
    """The most memory that this process has had, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    program = sg.parse("""
        X : real[n, d]
        y : real[n]
        w : real[d]
        loss = mean((tanh(X @ w) - y)**2)
    """)
    total = sg.over_data(
        program["loss"], "w", "n", rows=100_000
    )  # verifies that the loss is a mean over rows
    w = np.zeros(COLUMNS)
    size = ROWS * (COLUMNS + 1) * 8
    print(f"data: {size / 1e6:.0f} MB in {len(total.blocks(ROWS))} blocks of {total.rows:,} rows")

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        begun = time.perf_counter()
        future = client.compute(sg.to_dask(total)(read, ROWS, w=w))
        progress(future, notebook=False)
        value, gradient = future.result()
        print(f"\nloss {value:.6f} in {time.perf_counter() - begun:.1f} s; gradient {np.round(gradient, 4)}")
        most = max(client.run(peak).values())
        print(f"the most memory of a worker: {most / 2**20:.0f} MiB of {LIMIT / 2**20:.0f}")
        assert most < LIMIT < size / 2  # both together have less than the data

        few = 1_000_000  # the same bits as one block after the other in this process
        there = client.compute(sg.to_dask(total)(read, few, w=TRUE)).result()
        here = total(read, few, w=TRUE)
        assert there[0] == here[0]
        assert there[1].tobytes() == here[1].tobytes()
        print(f"at the true w: loss {here[0]:.6f}, bit for bit the same here and there")


if __name__ == "__main__":
    main()
