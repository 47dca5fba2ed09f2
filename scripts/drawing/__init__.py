"""Reading and drawing of recoil's run folders; numpy, h5py and matplotlib only, no display needed."""
