"""What the tests of normal GNNs share: small tensors gain nothing from threads, which wait for one another."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)
