"""The estimators by name, known without torch, which takes seconds to import."""

# the class, and what `unmix fit --method` calls it; None where the command does not offer it
ESTIMATORS: dict[str, str | None] = {
    "DiverseDictionaryLearning": "ddl",
    "Autoencoder": "ae",
    "BetaVAE": "vae",
    "FactorVAE": "factorvae",
    "BetaTCVAE": "tcvae",
    "BioAE": "bioae",
    "QLAE": "qlae",
    "VQVAE": "vqvae",
    "EncDiff": "encdiff",
    "DisCo": "disco",
    "PDGMM": "pdgmm",
    "CGVAE": "cgvae",
    "IVAE": "ivae",
    "GAN": "gan",
    "CGGAN": "cggan",
    "SlotAutoencoder": "slots",
    "FastICA": "ica",
    "LabelledSparseAutoencoder": None,
    "SparseBasis": "sparse-basis",
    "SparseAutoencoder": None,
    "JacobianSparseAutoencoder": None,
    "VaDE": None,
}
COMMANDS = {command: name for name, command in ESTIMATORS.items() if command is not None}
