install = ["torch", "numpy>=1"] + other["x"]  # list
setup(name='x', install_requires=install, setup_requires=['wheel'],
  extras_require={'dev': ['a', 'b>1'], "all": [("c")],},
  entry_points={'console_scripts': ['run = a.b:main', 'x=y:z']},
  ext_modules=[CUDAExtension('ext', ['a.cu'])])
install_requires = install_requires
