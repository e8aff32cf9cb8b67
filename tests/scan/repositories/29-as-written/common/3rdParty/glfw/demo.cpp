int main(int argc, char** argv) { if (!strcmp(argv[1], "--theirs")) return 1; }
