pub struct Generated { pub source: String, pub key: String, pub features: Vec<(&'static str, String)>, pub instance: u32, pub family: u32 }
pub fn generate(_n: usize, _seed: u64, _out: &mut dyn FnMut(&Generated)) {}
