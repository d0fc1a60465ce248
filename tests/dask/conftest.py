import pytest
from distributed import Client, LocalCluster


def cluster(processes):
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
        ) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """A client of two workers in this process."""
    yield from cluster(processes=False)


@pytest.fixture(scope="module")
def far_client():
    """A client of two workers, each in a process of its own that is started again if it dies."""
    yield from cluster(processes=True)
