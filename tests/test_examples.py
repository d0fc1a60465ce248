"""The examples run, on less than they show."""

import numpy as np

import calibrated_probabilities
import quantum_kernel


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


def test_calibration_lowers_the_log_loss(monkeypatch, capsys):
    monkeypatch.setattr(calibrated_probabilities, "SEEDS", range(2))
    monkeypatch.setattr(
        calibrated_probabilities, "load_digits", calibrated_probabilities.load_breast_cancer
    )
    calibrated_probabilities.main()
    lines = capsys.readouterr().out.splitlines()
    loss = {line.split()[0]: float(line.split()[1]) for line in lines if "±" in line}
    assert loss["sigmoid"] < loss["raw"]
