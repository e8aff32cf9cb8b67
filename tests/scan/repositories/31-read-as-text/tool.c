void start(void);
int
#ifdef _UNICODE
wmain(int argc, wchar_t* argv[])
#else
main(int argc, char* argv[])
#endif
{
  start();
  return 0;
}
