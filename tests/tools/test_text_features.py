"""TF-IDF rows and their reduction, compared with values worked out by hand."""

from collections import Counter

import numpy as np
from scipy.sparse import csr_array
from text_features import reduced, word_weights


def test_word_weights_are_tf_idf_of_length_one():
    found = word_weights([["red", "red", "blue"], ["blue", "green"], [], ["c++", "d"]], 1).toarray()
    # Columns: blue, c++, d, green, red.
    first = np.array([np.log(2), 0, 0, 0, (1 + np.log(2)) * np.log(4)])
    np.testing.assert_allclose(found[0], first / np.linalg.norm(first))
    assert found.shape == (4, 5)
    assert (found[2] == 0).all()
    np.testing.assert_allclose(np.linalg.norm(found[[0, 1, 3]], axis=1), 1)


def test_rare_words_have_no_column():
    assert word_weights([["a", "b"], ["a"], ["c"]], 2).shape == (3, 1)


def test_counted_words_weigh_as_much_as_listed_ones():
    bags = [["a", "a", "b"], ["b", "c"], ["c"]]
    listed = word_weights(bags, 1).toarray()
    np.testing.assert_array_equal(word_weights([Counter(bag) for bag in bags], 1).toarray(), listed)


def test_reduction_keeps_inner_products():
    rng = np.random.default_rng(0)
    rank_two = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 10))
    found = reduced(csr_array(rank_two), 2)
    np.testing.assert_allclose(found @ found.T, rank_two @ rank_two.T, atol=1e-8)
    assert (found[:, 0] ** 2).sum() > (found[:, 1] ** 2).sum()
