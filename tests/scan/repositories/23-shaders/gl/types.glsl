struct block_q4 { uint d; };
