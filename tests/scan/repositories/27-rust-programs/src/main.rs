use std::env;

fn main() {
    println!("{:?}", env::args());
}
