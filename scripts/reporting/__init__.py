"""What scripts/report.py is made of: elements, observations, pictures and the page; numpy, h5py and matplotlib only."""
