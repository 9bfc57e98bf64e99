// What Go asks Windows for random numbers with, for Wine 8, which has no bcryptprimitives.dll. It is of tests alone.
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  while (length > 0) {
    ULONG part = length > 0x100000 ? 0x100000 : (ULONG)length;
    if (!SystemFunction036(data, part)) return FALSE;
    data += part; length -= part;
  }
  return TRUE;
}
