"""The examples run, on less than they show."""

import numpy as np

import calibrated_probabilities
import kernel_cca
import kernel_k_means
import kernel_pca
import linear_models_on_features
import novelty_detection
import quantum_kernel
import spectral_embedding
import stream
import two_sample_test


def test_the_simulated_states_are_those_of_the_circuit(monkeypatch):
    """Hadamards and phases as matrices, for two inputs."""
    n = quantum_kernel.QUBITS
    H = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    Z = np.diag([1.0, -1.0])
    rng = np.random.default_rng(0)

    def on(gates):
        whole = np.eye(1)
        for q in reversed(range(n)):  # qubit 0 is the lowest bit
            whole = np.kron(whole, gates.get(q, np.eye(2)))
        return whole

    for x in rng.uniform(0, 1, (2, n)):
        phase = sum(x[i] * np.diag(on({i: Z})) for i in range(n))
        phase = phase + sum(
            x[i] * x[j] * np.diag(on({i: Z, j: Z})) for i in range(n) for j in range(i)
        )
        U, all_h = np.diag(np.exp(1j * phase)), on(dict.fromkeys(range(n), H))
        state = U @ all_h @ U @ all_h @ np.eye(2**n)[0]
        np.testing.assert_allclose(quantum_kernel.states(x[None])[0], state, atol=1e-12)


def test_a_quantum_kernel_is_learned_from_shots(monkeypatch, capsys):
    for name, value in (("SHOTS", (16,)), ("SEEDS", range(2)), ("ROWS", 100), ("TEST_ROWS", 60)):
        monkeypatch.setattr(quantum_kernel, name, value)
    monkeypatch.setattr("sys.argv", ["quantum_kernel.py"])
    quantum_kernel.main()
    printed = capsys.readouterr().out
    assert printed.count("exact") == 2
    assert "nan" not in printed


def test_built_in_probabilities_are_as_good_as_calibrated_ones(monkeypatch, capsys):
    monkeypatch.setattr(calibrated_probabilities, "SEEDS", range(2))
    monkeypatch.setattr(
        calibrated_probabilities, "load_digits", calibrated_probabilities.load_breast_cancer
    )
    calibrated_probabilities.main()
    lines = capsys.readouterr().out.splitlines()
    loss = {line.split()[0]: float(line.split()[1]) for line in lines if "±" in line}
    assert loss["built-in"] < 1.15 * loss["sigmoid"]
    assert loss["built-in"] < loss["isotonic"]


def test_a_stream_that_is_interrupted_goes_on_from_its_file(tmp_path, monkeypatch, capsys):
    for name, value in (("BATCHES", 8), ("ROWS", 100), ("SAVE_EVERY", 2), ("SHOW_EVERY", 2)):
        monkeypatch.setattr(stream, name, value)
    whole = stream.main(tmp_path / "whole")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert [int(line[0]) for line in lines] == [2, 4, 6]
    errors = [float(line[2]) for line in lines]
    assert errors[-1] < 0.8 * errors[0]
    assert float(lines[-1][-1].rstrip("%")) > 85  # of 95 for errors that are normal

    all_batches = stream.batches

    def ends(start):
        for number, X, y in all_batches(start):
            if number == 5:
                raise KeyboardInterrupt
            yield number, X, y

    monkeypatch.setattr(stream, "batches", ends)
    try:
        stream.main(tmp_path / "parts")
    except KeyboardInterrupt:
        monkeypatch.setattr(stream, "batches", all_batches)
    in_parts = stream.main(tmp_path / "parts")
    assert in_parts.batches_learned_ == 8
    np.testing.assert_array_equal(in_parts.neuron_coef_, whole.neuron_coef_)


def test_pca_of_random_features_tells_rings_apart(capsys):
    kernel_pca.main()
    right = [float(line.split("%")[0].split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert right[0] < 70
    assert right[1] == right[2] == 100


def test_random_convolutions_help_k_means(monkeypatch):
    monkeypatch.setattr(kernel_k_means, "SEEDS", [1])
    found = kernel_k_means.main()
    assert found["random convolutions"] > found["pixels"] + 0.02


def test_an_embedding_by_features_is_as_good_as_the_spectral_one():
    scores = spectral_embedding.main()
    assert scores["random features"] > scores["exact"] - 0.02


def test_novelties_are_found_by_a_linear_method_on_features():
    areas = novelty_detection.main()
    assert areas["on random features"] > areas["one-class SVM"] - 0.06 > areas["without features"]


def test_views_that_are_related_by_a_square_are_found():
    found = kernel_cca.main()
    assert found["as random features"] > 0.9
    assert abs(found["as they are"]) < 0.2


def test_linear_models_are_better_on_features():
    found = linear_models_on_features.main()
    plain, on_features = found["log loss on digits"]
    assert on_features < plain
    plain, on_features = found["deviance of counts explained"]
    assert on_features > 0.6 > plain


def test_pages_and_customers_differ_where_they_do(monkeypatch, capsys):
    monkeypatch.setattr(two_sample_test, "PERMUTATIONS", 199)
    p = two_sample_test.main()
    same = {name: value for name, value in p.items() if name.endswith("the same")}
    assert len(same) == 2
    assert min(same.values()) > 0.05
    assert all(value == 0.005 for name, value in p.items() if name not in same)
    assert capsys.readouterr().out.count("(199 permutations)") == 6
