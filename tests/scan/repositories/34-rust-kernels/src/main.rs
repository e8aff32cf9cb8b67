mod kernels;

fn step(module: &Module, stream: &Stream) -> Result<(), CudaError> {
    unsafe {
        launch!(module.add_rows<<<(64, 1, 1), 256, 0, stream>>>(a.as_ptr(), b.as_ptr(), out.as_ptr()))?;
    }
    let client = CudaRuntime::client(&device);
    unsafe { kernels::scale_rows::launch_unchecked::<f16, CudaRuntime>(&client, count(rows), CubeDim::default(), rows, 3.0) };
    not_a_kernel::launch(&client, 1);
    Ok(())
}

fn main() {
    step(&module, &stream).unwrap();
}
