use cubecl::prelude::*;
use cuda_std::prelude::*;

// #[kernel] in a comment marks nothing.
#[kernel]
#[allow(improper_ctypes_definitions)]
pub unsafe fn add_rows(a: &[f32], b: &[f32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < a.len() {
        *out.add(i) = a[i] + b[i];
    }
}

#[cube(launch_unchecked)]
pub fn scale_rows<F: Float>(rows: &mut Array<Line<F>>, factor: F) {
    if ABSOLUTE_POS < rows.len() {
        rows[ABSOLUTE_POS] = twice::<F>(rows[ABSOLUTE_POS]) * factor;
    }
}

#[cube]
fn twice<F: Float>(value: Line<F>) -> Line<F> {
    value + value
}

#[spirv(compute(threads(64)))]
pub fn main_cs(#[spirv(global_invocation_id)] id: UVec3, #[spirv(storage_buffer)] rows: &mut [u32]) {
    rows[id.x as usize] += 1;
}

#[spirv(fragment)]
pub fn main_fs(color: &mut Vec4) {
    *color = Vec4::ONE;
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn raw_rows(rows: *mut f32) {
    *rows = 0.0;
}

fn plain() {}

pub fn run<R: Runtime>(client: &ComputeClient<R>, rows: ArrayArg<R>) {
    unsafe {
        scale_rows::launch_unchecked::<f32, R>(client, CubeCount::Static(8, 1, 1), CubeDim::new(64, 1, 1), rows, 2.0);
    }
}
