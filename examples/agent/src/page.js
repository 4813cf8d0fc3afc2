// TODO a page for the shop, see a.c
