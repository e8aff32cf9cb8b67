pub fn start() {}
// fn main() {
//     start();
// }
mod tests {
    fn main() {}
}
