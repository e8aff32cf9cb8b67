// @compute @workgroup_size(1) fn commented() {}
fn helper(x: f32) -> f32 { return x; }

@compute @workgroup_size(WG_SIZE)
fn main(@builtin(workgroup_id) wid: vec3<u32>) {
    if (wid.x > 1u) { return; }
}

@compute @workgroup_size(8, 8, 1) fn second_pass() {
}

@fragment
fn shade() -> vec4<f32> { return vec4<f32>(); }
