use clap::Parser;

/// Scales a file.
#[derive(Parser, Debug)]
struct Args {
    /// How much to scale by.
    #[arg(long, default_value_t = 2.0)]
    by: f64,
}

fn run(dev: &Device, dtype: &str) -> Result<()> {
    let fill = dev.get_or_load_func("fill_f32", &KERNELS)?;
    let affine = dev.get_or_load_func(&format!("affine_{dtype}"), &KERNELS)?;
    println!("done");
    Ok(())
}
