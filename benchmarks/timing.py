"""How the scripts in this folder time a call."""
import time


def shortest(run, seconds):
    """Returns the seconds of the shortest call of `run`, which is called once and then for so many seconds, at least once."""
    run()
    end = time.perf_counter() + seconds
    best = float("inf")
    while True:
        start = time.perf_counter()
        run()
        stop = time.perf_counter()
        best = min(best, stop - start)
        if stop > end:
            return best
