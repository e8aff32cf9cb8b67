// Arguments compared by hand, and a usage text that is not quite right.
#include <cstdio>
#include <cstdlib>
#include <cstring>

void usage() {
  fprintf(stderr, "Usage: ./train [options]\n");
  fprintf(stderr, "  -i <string> data file (default = data/train.bin)\n");
  fprintf(stderr, "  -b <int>    batch size (default = 8)\n");
  fprintf(stderr, "  -l <float>  learning rate (default = 3e-4)\n");
  fprintf(stderr, "  -lg <int>   log every so many steps (default: -1; never)\n");
  fprintf(stderr, "  -pm <string> how to start: tcp, fs (default = mpi)\n");
  fprintf(stderr,
          "  -w, --warm <int> steps to warm up (default 0, none)\n"
          "  --fast      approximate\n");
  exit(1);
}

int main(int argc, char* argv[]) {
  const char* data = "data/train.bin";
  int batch = 4;
  float rate = 3e-4f;
  int log_every = -1;
  char method[16] = "mpi";
  int warm = 0;
  bool fast = false;
  int hidden = 1;
  Model model;
  for (int i = 1; i < argc; i += 2) {
    if (argv[i][0] != '-') usage();
    if (argv[i][1] == 'i') { data = argv[i + 1]; }
    else if (argv[i][1] == 'b') { batch = atoi(argv[i + 1]); }
    else if (argv[i][1] == 'l' && argv[i][2] == '\0') { rate = atof(argv[i + 1]); }
    else if (argv[i][1] == 'l' && argv[i][2] == 'g') { log_every = atoi(argv[i + 1]); }
    else if (argv[i][1] == 'p' && argv[i][2] == 'i') { strcpy(method, argv[i + 1]); }
    else if (strcmp(argv[i], "-w") == 0 || strcmp(argv[i], "--warm") == 0) warm = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--fast")) fast = true;
    else if (argv[i][1] == 'x') { hidden = atoi(argv[i + 1]); }
    else if (argv[i][1] == 'm') { model.depth = atoi(argv[i + 1]); }
    else usage();
  }
}
